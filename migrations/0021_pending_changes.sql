ALTER TABLE `vaults` ADD `pending_changes` integer;--> statement-breakpoint
ALTER TABLE `vaults` ADD `pending_changes_seq` integer;