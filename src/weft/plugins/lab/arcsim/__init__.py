"""Fabrics and files of ARCSim."""
