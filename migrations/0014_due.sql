ALTER TABLE `transactions` ADD `due_at_ms` integer;--> statement-breakpoint
UPDATE `transactions` SET `due_at_ms` = `updated_at_ms` WHERE watched = 1;--> statement-breakpoint
DROP INDEX `transactions_watched`;--> statement-breakpoint
CREATE INDEX `transactions_due` ON `transactions` (`due_at_ms`) WHERE due_at_ms is not null;
