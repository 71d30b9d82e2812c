import { render } from 'preact';
import { ApprovalPage } from '#approval-page/approval-page.tsx';

const root = document.getElementById('page');
if (root !== null) render(<ApprovalPage />, root);
