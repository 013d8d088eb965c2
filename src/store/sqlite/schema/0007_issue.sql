-- The issue that a lease is for, which check asks about. In rows of before it stands at the end of the operation alone.
alter table leases add column issue text;
-- That of the explicit hold which a command has adopted, to hand back to.
alter table leases add column hold_issue text;
