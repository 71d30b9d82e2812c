// Requests the code of the page in the address while the first script arrives. The template of a
// page names its files (vite.config.ts). A page without one needs no more than the first script.
{
  const [, kind, , part] = location.hash.split('?')[0].split('/');
  const page = kind === 'vault' ? part : kind;
  for (const template of document.querySelectorAll('template[data-page]')) {
    if (template.dataset.page === page) document.head.append(template.content.cloneNode(true));
  }
}
