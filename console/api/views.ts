/** Views of the call log that people keep on the service: their own, and those that others share. */
import { ask, ofWorkspace } from './request.ts';

export interface View {
  id: string;
  name: string;
  /** `status=failed&q=…`, as the address has it. */
  query: string;
  isShared: boolean;
  isMine: boolean;
  madeBy: string;
}

export const views = (enterprise: string) => {
  const at = (path = '') => ofWorkspace(enterprise, `views${path}`);
  const one = (id: string) => at(`/${encodeURIComponent(id)}`);
  return {
    list: (signal?: AbortSignal) => ask<{ data: View[] }>(at(), signal === undefined ? {} : { signal }),
    save: (view: Pick<View, 'name' | 'query' | 'isShared'>) =>
      ask<{ view: View }>(at(), { method: 'POST', body: view }),
    change: (id: string, change: Partial<Pick<View, 'name' | 'query' | 'isShared'>>) =>
      ask<{ view: View }>(one(id), { method: 'PATCH', body: change }),
    remove: (id: string) => ask(one(id), { method: 'DELETE' }),
  };
};
