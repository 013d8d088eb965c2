//! What a session does besides asking and settling, by the functions alone: check, adopt, revoke, end.
