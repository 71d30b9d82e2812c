CREATE TABLE `claims` (
	`chain` text NOT NULL,
	`hash` text NOT NULL,
	`host` text NOT NULL,
	`first_at_ms` integer NOT NULL,
	`last_at_ms` integer NOT NULL,
	PRIMARY KEY(`chain`, `hash`, `host`)
);
--> statement-breakpoint
CREATE INDEX `claims_age` ON `claims` (`last_at_ms`);