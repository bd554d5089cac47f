"""The API's conventions, bound by the REST framework's settings: the apps' views follow them without knowing them."""
