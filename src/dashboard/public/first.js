// Requests the code and the data of the page in the address while the first script arrives. The
// template of a page names both (vite.config.ts). A page without one needs no more than the first
// script and its data.
{
  const [, kind, id, part = kind] = location.hash.split('?')[0].split('/');
  const page = kind === 'vault' ? part : kind;
  for (const template of document.querySelectorAll('template[data-page]')) {
    if (template.dataset.page !== page) continue;
    const links = template.content.cloneNode(true);
    for (const link of links.querySelectorAll('[data-path]')) {
      const { path } = link.dataset;
      // An address without the id of its page is of no page.
      if (id !== undefined || !path.includes(':id')) link.href = path.replace(':id', encodeURIComponent(id));
    }
    document.head.append(links);
  }
}
