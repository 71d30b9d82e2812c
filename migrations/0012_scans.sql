CREATE TABLE `scans` (
	`id` text PRIMARY KEY NOT NULL,
	`vault_id` integer NOT NULL,
	`chain` text NOT NULL,
	`address` text NOT NULL,
	`since_block` text,
	`hashes` text,
	`started_at_ms` integer NOT NULL,
	`state` text NOT NULL,
	`tries` integer NOT NULL,
	`due_at_ms` integer NOT NULL,
	`outcome` text,
	CONSTRAINT "scans_state" CHECK(state in ('open', 'done', 'failed'))
);
--> statement-breakpoint
CREATE INDEX `scans_due` ON `scans` (`due_at_ms`) WHERE state = 'open';--> statement-breakpoint
CREATE INDEX `scans_wallet` ON `scans` (`vault_id`,`chain`) WHERE state = 'open';--> statement-breakpoint
CREATE INDEX `scans_age` ON `scans` (`started_at_ms`) WHERE state = 'done';--> statement-breakpoint
CREATE INDEX `scans_failed` ON `scans` (`started_at_ms`) WHERE state = 'failed';--> statement-breakpoint
DROP INDEX `deliveries_origin`;