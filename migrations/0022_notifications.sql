CREATE TABLE `inbox` (
	`user_id` text NOT NULL,
	`id` text NOT NULL,
	`version` integer NOT NULL,
	`at_ms` integer NOT NULL,
	`kind` text NOT NULL,
	`title` text NOT NULL,
	`body` text NOT NULL,
	`vault_id` integer,
	`read_at_ms` integer,
	PRIMARY KEY(`user_id`, `id`)
);
--> statement-breakpoint
CREATE INDEX `inbox_newest` ON `inbox` (`user_id`,`at_ms`,`id`);--> statement-breakpoint
CREATE INDEX `inbox_age` ON `inbox` (`at_ms`);--> statement-breakpoint
CREATE TABLE `mails` (
	`user_id` text NOT NULL,
	`kind` text NOT NULL,
	`at_ms` integer NOT NULL,
	PRIMARY KEY(`user_id`, `kind`)
);
