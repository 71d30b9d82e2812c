CREATE TABLE `alerts` (
	`id` text PRIMARY KEY NOT NULL,
	`code` text NOT NULL,
	`subject` text,
	`detail` text NOT NULL,
	`opened_at_ms` integer NOT NULL,
	`seen_at_ms` integer NOT NULL,
	`newest_at_ms` integer,
	`resolved_at_ms` integer,
	`acknowledged_at_ms` integer,
	`announced` text
);
--> statement-breakpoint
CREATE INDEX `alerts_resolved` ON `alerts` (`resolved_at_ms`);--> statement-breakpoint
CREATE TABLE `queue_probes` (
	`queue` text PRIMARY KEY NOT NULL,
	`open_since_ms` integer,
	`returned_at_ms` integer
);
--> statement-breakpoint
CREATE TABLE `sweep_runs` (
	`id` integer PRIMARY KEY NOT NULL,
	`ended_at_ms` integer NOT NULL
);
