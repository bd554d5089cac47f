"""Writers and rerankers that use a language model."""
