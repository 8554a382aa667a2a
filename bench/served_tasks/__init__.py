"""How the policies of `bench.learning` are asked where they serve: a module for each stage of the product."""
