"""From a question to an answer, one stage a module, without a framework. `run` is the order of the stages."""
