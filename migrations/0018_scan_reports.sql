ALTER TABLE `scans` ADD `report_at_ms` integer;--> statement-breakpoint
ALTER TABLE `scans` ADD `coverage` text;--> statement-breakpoint
ALTER TABLE `scans` ADD `found` integer;--> statement-breakpoint
ALTER TABLE `scans` ADD `known` integer;--> statement-breakpoint
ALTER TABLE `scans` ADD `added` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `scans` ADD `unrecorded` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `scans` ADD `is_fresh` integer DEFAULT false NOT NULL;--> statement-breakpoint
CREATE INDEX `scans_report` ON `scans` (`vault_id`,`report_at_ms`) WHERE report_at_ms is not null;