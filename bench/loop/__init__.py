"""The loop from readers' votes to a promoted model, on the real stack with a stand-in for the writers and planted readers."""
