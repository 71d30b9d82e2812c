ALTER TABLE `transactions` ADD `memo` text;--> statement-breakpoint
CREATE INDEX `transactions_memo` ON `transactions` (`vault_id`,`memo`,`visible`,`id`) WHERE memo is not null;