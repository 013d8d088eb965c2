-- The issue that a lease is for, which check asks about. In rows of before it stands at the end of the operation alone.
alter table @schema@.leases add column issue text;
-- That of the explicit hold which a command has adopted, to hand back to, and the rule of that hold.
alter table @schema@.leases add column hold_issue text;
alter table @schema@.leases add column hold_rule text;
