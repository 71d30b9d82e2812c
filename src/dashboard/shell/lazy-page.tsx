import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';

type Part<P> = ComponentType<P> | 'loading' | 'missing';

/**
 * Returns a page whose code is loaded when it opens. The first page of a tab is requested earlier
 * (public/first.js).
 */
export function lazyPage<P extends object>(load: () => Promise<ComponentType<P>>): ComponentType<P> {
  let known: ComponentType<P> | null = null;
  return function LazyPage(props: P) {
    const [part, set] = useState<{ readonly is: Part<P> }>({ is: known ?? 'loading' });
    useEffect(() => {
      if (part.is !== 'loading') return;
      const open = async () => {
        known = await load();
        set({ is: known });
      };
      open().catch(() => set({ is: 'missing' }));
    }, [part]);
    const Page = part.is;
    if (Page === 'loading') return <main id="main" class="loading" />;
    if (Page !== 'missing') return <Page {...props} />;
    return (
      <main id="main">
        <h1>This page was not loaded</h1>
        <p class="problem" role="alert">
          The connection was lost, or the service has a newer dashboard. Typed text is kept.
        </p>
        <button type="button" onClick={() => location.reload()}>
          Load the dashboard again
        </button>
      </main>
    );
  };
}
