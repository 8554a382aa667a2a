"""Checkers of finished training sets, which share no code with their making: they read the rows and the texts behind them."""
