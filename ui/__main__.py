"""Serve the page: `python -m ui`, with the options of `streamlit run`."""

import os
import sys
from pathlib import Path

from streamlit.web import cli

# Streamlit starts its server with this variable, whose default believes every program of this machine.
os.environ["FORWARDED_ALLOW_IPS"] = os.environ.get("RUBRICA_TRUSTED_PROXIES", "")
sys.argv = ["streamlit", "run", str(Path(__file__).with_name("server.py")), *sys.argv[1:]]
cli.main()
