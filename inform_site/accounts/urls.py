"""Addresses of the accounts, below /admin/. Nobody signs up here, and there is no reset of passwords by mail."""

from allauth.account.views import AccountInactiveView, LoginView, LogoutView, ReauthenticateView
from allauth.mfa.base.views import AuthenticateView
from allauth.mfa.base.views import ReauthenticateView as FactorView
from allauth.mfa.recovery_codes.views import GenerateRecoveryCodesView, ViewRecoveryCodesView
from allauth.mfa.totp.views import ActivateTOTPView, DeactivateTOTPView
from allauth.mfa.webauthn import views as webauthn
from django.urls import path
from django.views.decorators.http import require_POST
from django.views.generic import RedirectView

from inform_site.accounts import views
from inform_site.accounts.views import desk_page, entrance_page

TO_LOGIN = RedirectView.as_view(pattern_name="account_login")
TO_ACCOUNT = RedirectView.as_view(pattern_name="mfa_index")

urlpatterns = [
    path("login/", entrance_page(LoginView, "login", "Log in"), name="account_login"),
    path("account/", desk_page(views.AccountView, "index", "Your account"), name="mfa_index"),
    path("account/logout/", require_POST(LogoutView.as_view()), name="account_logout"),
    path("account/inactive/", entrance_page(AccountInactiveView, "inactive", "Log in"), name="account_inactive"),
    path("account/sessions/<int:pk>/end/", require_POST(views.end_session), name="account_end_session"),
    path("account/sessions/end/", require_POST(views.end_other_sessions), name="account_end_other_sessions"),
    path("account/confirm/", desk_page(ReauthenticateView, "confirm", "Is it you?"), name="account_reauthenticate"),
    # second factors: the names are those of allauth.mfa.urls
    path("account/factor/", entrance_page(AuthenticateView, "factor", "Second factor"), name="mfa_authenticate"),
    path("account/factor/confirm/", desk_page(FactorView, "confirm", "Is it you?"), name="mfa_reauthenticate"),
    path("account/app/", desk_page(ActivateTOTPView, "app", "Add an app"), name="mfa_activate_totp"),
    path("account/app/remove/", desk_page(DeactivateTOTPView, "remove", "Remove the app"), name="mfa_deactivate_totp"),
    path(
        "account/codes/",
        desk_page(ViewRecoveryCodesView, "codes", "Recovery codes"),
        name="mfa_view_recovery_codes",
    ),
    path(
        "account/codes/new/",
        desk_page(GenerateRecoveryCodesView, "new_codes", "New recovery codes"),
        name="mfa_generate_recovery_codes",
    ),
    path("account/passkeys/", TO_ACCOUNT, name="mfa_list_webauthn"),
    path(
        "account/passkeys/add/",
        desk_page(webauthn.AddWebAuthnView, "passkey", "Add a passkey"),
        name="mfa_add_webauthn",
    ),
    path(
        "account/passkeys/<int:pk>/remove/",
        desk_page(webauthn.RemoveWebAuthnView, "remove", "Remove a passkey"),
        name="mfa_remove_webauthn",
    ),
    path(
        "account/passkeys/confirm/",
        desk_page(webauthn.ReauthenticateWebAuthnView, "confirm_passkey", "Is it you?"),
        name="mfa_reauthenticate_webauthn",
    ),
    path("account/passkeys/login/", webauthn.LoginWebAuthnView.as_view(), name="mfa_login_webauthn"),
    # OpenID Connect: the names are those of allauth.socialaccount
    path("account/provider/<str:provider_id>/", views.sign_in_elsewhere, name="openid_connect_login"),
    path("account/provider/<str:provider_id>/back/", views.come_back, name="openid_connect_callback"),
    path("account/provider/cancelled", TO_LOGIN, name="socialaccount_login_cancelled"),
    path("account/provider/error", TO_LOGIN, name="socialaccount_login_error"),
]
