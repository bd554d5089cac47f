"""API conventions, applied to the views of all apps through the settings of Django REST framework."""
