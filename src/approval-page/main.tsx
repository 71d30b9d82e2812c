import { render } from 'preact';
import { ApprovalPage } from '#approval-page/approval-page.tsx';

const place = document.getElementById('page');
if (place !== null) render(<ApprovalPage />, place);
