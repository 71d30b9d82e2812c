CREATE TABLE `database_owner` (
	`id` integer PRIMARY KEY NOT NULL,
	`fingerprints` text NOT NULL
);
--> statement-breakpoint
ALTER TABLE `vaults` ADD `passkey_origins` text;