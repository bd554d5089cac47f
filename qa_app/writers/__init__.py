"""What stands behind the pipeline's ports: the corpus, and a language model where one is configured."""
