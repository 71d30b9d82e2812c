CREATE TABLE `funded_chains` (
	`chain` text PRIMARY KEY NOT NULL,
	`seen_at_ms` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `rpc_nodes` (
	`chain` text NOT NULL,
	`position` integer NOT NULL,
	`host` text NOT NULL,
	`checked_at_ms` integer NOT NULL,
	`head` text,
	`lag_blocks` text,
	`other_chain` text,
	`fault` text,
	`error` text,
	PRIMARY KEY(`chain`, `position`)
);
