import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';

type Part<P> = ComponentType<P> | 'loading' | 'missing';

/** A page whose code is loaded when it opens. */
interface LazyPage<P> {
  readonly Page: ComponentType<P>;
  /** Loads the code earlier. A failure is shown when the page opens. */
  readonly prepare: () => void;
}

export function lazyPage<P extends object>(load: () => Promise<ComponentType<P>>): LazyPage<P> {
  let known: ComponentType<P> | null = null;
  const prepare = () => {
    load().catch(() => {});
  };
  function Page(props: P) {
    const [part, set] = useState<{ readonly is: Part<P> }>({ is: known ?? 'loading' });
    useEffect(() => {
      if (part.is !== 'loading') return;
      const open = async () => {
        known = await load();
        set({ is: known });
      };
      open().catch(() => set({ is: 'missing' }));
    }, [part]);
    const Shown = part.is;
    if (Shown === 'loading') return <main id="main" class="loading" />;
    if (Shown !== 'missing') return <Shown {...props} />;
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
  }
  return { Page, prepare };
}
