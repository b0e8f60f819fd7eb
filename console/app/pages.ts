/** Which page an address shows; each is fetched when it is first shown. */
import { lazy, type Part } from '../ui/lazy.tsx';

/** `rest`: what stands behind the page's own word in the address. */
export interface PageProps {
  enterprise: string;
  rest: readonly string[];
  query: URLSearchParams;
}

export const SignIn = lazy(async () => (await import('../pages/sign-in/sign-in-page.tsx')).SignInPage);
export const SignInForm = lazy(async () => (await import('../pages/sign-in/sign-in-page.tsx')).SignInForm);
export const Link = lazy(async () => (await import('../pages/link/link-page.tsx')).LinkPage);
export const Operator = lazy(async () => (await import('../pages/operator/operator-page.tsx')).OperatorPage);

/** Of a workspace: `#/w/acme/calls`. */
export const PAGES: Readonly<Record<string, Part<PageProps>>> = {
  home: lazy(async () => (await import('../pages/home/home-page.tsx')).HomePage),
  live: lazy(async () => (await import('../pages/live/live-page.tsx')).LivePage),
  calls: lazy(async () => (await import('../pages/calls/calls-page.tsx')).CallsPage),
  call: lazy(async () => (await import('../pages/call/call-page.tsx')).CallPage),
  agents: lazy(async () => (await import('../pages/agents/agents-page.tsx')).AgentsPage),
  leads: lazy(async () => (await import('../pages/leads/leads-page.tsx')).LeadsPage),
  settings: lazy(async () => (await import('../pages/settings/settings-page.tsx')).SettingsPage),
};
