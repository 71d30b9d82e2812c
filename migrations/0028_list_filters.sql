ALTER TABLE `transactions` ADD `kind` text;--> statement-breakpoint
ALTER TABLE `transactions` ADD `created_by` text;--> statement-breakpoint
ALTER TABLE `transactions` ADD `tokens` text;--> statement-breakpoint
ALTER TABLE `transactions` ADD `counterparties` text;--> statement-breakpoint
CREATE INDEX `transactions_external_id` ON `transactions` (`vault_id`,`external_id`,`visible`,`id`) WHERE external_id is not null;--> statement-breakpoint
CREATE INDEX `transactions_tx_hash` ON `transactions` (`vault_id`,`tx_hash`,`visible`,`id`) WHERE tx_hash is not null;