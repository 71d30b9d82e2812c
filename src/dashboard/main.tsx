import { render } from 'preact';
import { App } from '#dashboard/shell/app.tsx';
import { thisTab } from '#dashboard/approval/approval-redirect.ts';
import { takeRedirectResult } from '#dashboard/forms/signing-task.ts';

const root = document.getElementById('app');
if (root !== null) render(<App returned={takeRedirectResult(thisTab())} />, root);
