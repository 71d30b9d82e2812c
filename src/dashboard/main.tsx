import { render } from 'preact';
import { App } from '#dashboard/app.tsx';
import { thisTab } from '#dashboard/approval/approval-redirect.ts';
import { takeRedirectResult } from '#dashboard/forms/signing-task.ts';

const place = document.getElementById('app');
if (place !== null) render(<App returned={takeRedirectResult(thisTab())} />, place);
