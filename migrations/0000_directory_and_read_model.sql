CREATE TABLE `access_tokens` (
	`id` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`name` text NOT NULL,
	`expires_at` integer,
	`enabled` integer NOT NULL,
	`created_at_ms` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `access_tokens_user` ON `access_tokens` (`user_id`);--> statement-breakpoint
CREATE TABLE `audit` (
	`vault_id` integer NOT NULL,
	`seq` integer NOT NULL,
	`transaction_id` text,
	`at_ms` integer NOT NULL,
	`entry` text NOT NULL,
	`hash` text NOT NULL,
	PRIMARY KEY(`vault_id`, `seq`)
);
--> statement-breakpoint
CREATE INDEX `audit_transaction` ON `audit` (`transaction_id`,`seq`);--> statement-breakpoint
CREATE TABLE `dead_letters` (
	`id` text PRIMARY KEY NOT NULL,
	`queue` text NOT NULL,
	`body` text NOT NULL,
	`at_ms` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `transactions` (
	`id` text PRIMARY KEY NOT NULL,
	`vault_id` integer NOT NULL,
	`version` integer NOT NULL,
	`state` text NOT NULL,
	`state_reason` text,
	`display_type` text NOT NULL,
	`chain` text NOT NULL,
	`direction` text NOT NULL,
	`visible` integer NOT NULL,
	`created_at_ms` integer NOT NULL,
	`updated_at_ms` integer NOT NULL,
	`tx_hash` text,
	`external_id` text,
	`watched` integer NOT NULL,
	`record` text NOT NULL,
	CONSTRAINT "transactions_version" CHECK(version >= 1)
);
--> statement-breakpoint
CREATE INDEX `transactions_vault` ON `transactions` (`vault_id`,`id`);--> statement-breakpoint
CREATE INDEX `transactions_updated` ON `transactions` (`vault_id`,`updated_at_ms`);--> statement-breakpoint
CREATE INDEX `transactions_watched` ON `transactions` (`updated_at_ms`) WHERE watched = 1;--> statement-breakpoint
CREATE TABLE `users` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`email` text NOT NULL,
	`created_at_ms` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `users_email` ON `users` (`email`);--> statement-breakpoint
CREATE TABLE `vaults` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`name` text NOT NULL,
	`reference` text NOT NULL,
	`created_at_ms` integer NOT NULL,
	`nudged_at_ms` integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `vaults_reference` ON `vaults` (`reference`);--> statement-breakpoint
CREATE INDEX `vaults_nudged` ON `vaults` (`nudged_at_ms`);--> statement-breakpoint
CREATE TABLE `wallets` (
	`chain` text NOT NULL,
	`address` text NOT NULL,
	`vault_id` integer NOT NULL,
	`key_id` text NOT NULL,
	PRIMARY KEY(`chain`, `address`)
);
--> statement-breakpoint
CREATE INDEX `wallets_vault` ON `wallets` (`vault_id`);