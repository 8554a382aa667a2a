"""The pages; Streamlit runs each from top to bottom."""
