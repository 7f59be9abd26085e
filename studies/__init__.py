"""Studies: questions about the method that are asked rarely, each with its code,
its results and how to ask it again."""
