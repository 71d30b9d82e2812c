CREATE TABLE `hint_budgets` (
	`endpoint_id` text NOT NULL,
	`lane` text NOT NULL,
	`free_at_ms` integer NOT NULL,
	PRIMARY KEY(`endpoint_id`, `lane`)
);
--> statement-breakpoint
ALTER TABLE `deliveries` ADD `parts` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX `deliveries_parts` ON `deliveries` (`endpoint_id`,`parts`) WHERE state = 'open' and parts > 0;--> statement-breakpoint
UPDATE `deliveries` SET `parts` = 1 WHERE state = 'open' AND provider = 'part';
