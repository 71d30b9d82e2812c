ALTER TABLE `vaults` ADD `size_bytes` integer;--> statement-breakpoint
CREATE INDEX `vaults_size` ON `vaults` (`size_bytes`);--> statement-breakpoint
CREATE INDEX `access_tokens_deleted` ON `access_tokens` (`deleted_at_ms`) WHERE deleted_at_ms is not null;--> statement-breakpoint
CREATE INDEX `dead_letters_age` ON `dead_letters` (`at_ms`);--> statement-breakpoint
CREATE INDEX `transactions_visible` ON `transactions` (`vault_id`,`visible`,`id`);--> statement-breakpoint
CREATE INDEX `transactions_state` ON `transactions` (`vault_id`,`state`,`visible`,`id`);--> statement-breakpoint
CREATE INDEX `transactions_display_type` ON `transactions` (`vault_id`,`display_type`,`visible`,`id`);--> statement-breakpoint
CREATE INDEX `transactions_chain` ON `transactions` (`vault_id`,`chain`,`visible`,`id`);--> statement-breakpoint
CREATE INDEX `transactions_direction` ON `transactions` (`vault_id`,`direction`,`visible`,`id`);