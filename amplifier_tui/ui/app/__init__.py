"""The app: its life, its actions and its main screen."""
