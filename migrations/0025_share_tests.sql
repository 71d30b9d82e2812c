CREATE TABLE `share_tests` (
	`key_id` text NOT NULL,
	`node` integer NOT NULL,
	`tested_at_ms` integer NOT NULL,
	`epoch` integer,
	`made_at_ms` integer,
	`fault` text,
	PRIMARY KEY(`key_id`, `node`)
);
--> statement-breakpoint
CREATE INDEX `share_tests_faulty` ON `share_tests` (`tested_at_ms`) WHERE fault is not null;