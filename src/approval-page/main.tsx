import { render } from 'preact';
import { ApprovalPage } from '#approval-page/approval-page.tsx';

// No element has an id: a fragment that the opener sets must not scroll to any of them.
const root = document.querySelector('main');
if (root !== null) render(<ApprovalPage />, root);
