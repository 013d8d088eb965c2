-- Whether a content has a receipt, whatever its path.
create index receipt_new on @schema@.receipts (scope, new);
create index receipt_blob on @schema@.receipts (scope, blob) where blob is not null;
