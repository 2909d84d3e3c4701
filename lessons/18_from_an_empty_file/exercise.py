"""Lesson 18: your Vision Transformer. Write it here, then run: pytest lessons/18_from_an_empty_file"""
