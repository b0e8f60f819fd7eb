/**
 * The OpenID provider by which people may sign in, from the environment: `OIDC_ISSUER` and what belongs to it. Read by
 * `load.ts`; no fault shows a secret. Without `OIDC_ISSUER` there is none.
 */
import { readFileSync } from 'node:fs';
import ipaddr from 'ipaddr.js';

type Environment = Readonly<Record<string, string | undefined>>;

export interface OpenIdSettings {
  /** As the provider calls itself, to the letter. */
  issuer: string;
  clientId: string;
  /** Null: a public client, which PKCE alone protects. */
  clientSecret: string | null;
  /** What people call it. */
  name: string;
  scope: string;
  /** Lower case; of whose e-mail addresses somebody comes in. Empty: of any. */
  domains: readonly string[];
  /** Of the claims that say who is what; null: people are invited. */
  rolesClaim: string | null;
  roles: readonly RoleMapping[];
  /** Ranges in which the provider may lie although they are private, and may speak plain http. */
  allowCidrs: readonly string[];
}

/** Whoever's claim has this value has this role in this workspace. */
export interface RoleMapping {
  value: string;
  enterprise: string;
  role: 'owner' | 'admin' | 'supervisor' | 'analyst';
}

/** For control alone. */
export const OPENID_SECRET = 'OIDC_CLIENT_SECRET';

const ROLE = /^(.+)=([a-z0-9][a-z0-9-]*):(owner|admin|supervisor|analyst)$/;
const DOMAIN = /^([a-z0-9-]+\.)+[a-z0-9-]{2,}$/;

/** `settings` null: nobody signs in so. */
export function readOpenIdSettings(given: Environment): { settings: OpenIdSettings | null; faults: string[] } {
  const text = (name: string): string => given[name]?.trim() ?? '';
  const list = (name: string): string[] => {
    const parts = text(name).split(',');
    return parts.map((part) => part.trim()).filter((part) => part !== '');
  };
  const issuer = text('OIDC_ISSUER');
  const clientId = text('OIDC_CLIENT_ID');
  const faults: string[] = [];
  if (issuer === '') {
    const alone = Object.keys(given).filter((name) => name.startsWith('OIDC_'));
    if (alone.length > 0)
      faults.push(`  OIDC_ISSUER is missing: ${alone.join(', ')} mean nothing without it (https://login.example.com)`);
    return { settings: null, faults };
  }
  if (!URL.canParse(issuer) || !/^https?:\/\/[^?#@]+$/.test(issuer)) {
    faults.push('  OIDC_ISSUER must be the address that the provider calls its issuer, like https://login.example.com');
  }
  if (clientId === '') faults.push('  OIDC_CLIENT_ID is missing: the id that the provider gave this service');
  const secret = readSecret(text(OPENID_SECRET), text('OIDC_CLIENT_SECRET_FILE'), faults);
  const domains = list('OIDC_ALLOWED_DOMAINS').map((domain) => domain.toLowerCase());
  if (!domains.every((domain) => DOMAIN.test(domain)))
    faults.push('  OIDC_ALLOWED_DOMAINS must be domains of e-mail addresses, like example.com,example.org');
  const rolesClaim = text('OIDC_ROLES_CLAIM');
  const roles = list('OIDC_ROLES').flatMap((pair) => mappingOf(pair) ?? []);
  if (roles.length !== list('OIDC_ROLES').length)
    faults.push(
      '  OIDC_ROLES must be like voice-leads=acme:admin,voice=acme:supervisor: value of the claim, workspace, role',
    );
  if ((rolesClaim === '') !== (roles.length === 0))
    faults.push('  OIDC_ROLES_CLAIM and OIDC_ROLES go together: a claim (groups), and who becomes what by its values');
  const allowCidrs = list('OIDC_ALLOW_CIDRS');
  if (!allowCidrs.every((cidr) => ipaddr.isValidCIDR(cidr)))
    faults.push('  OIDC_ALLOW_CIDRS must be ranges separated by commas, like 10.1.2.3/32');
  if (faults.length > 0) return { settings: null, faults };
  const settings = {
    ...{ issuer, clientId, clientSecret: secret, domains, roles, allowCidrs },
    name: text('OIDC_NAME') || new URL(issuer).hostname,
    scope: text('OIDC_SCOPES') || 'openid email profile',
    rolesClaim: rolesClaim === '' ? null : rolesClaim,
  };
  return { settings, faults };
}

function readSecret(secret: string, file: string, faults: string[]): string | null {
  if (file === '') return secret === '' ? null : secret;
  if (secret !== '') {
    faults.push('  OIDC_CLIENT_SECRET and OIDC_CLIENT_SECRET_FILE are both set: keep one');
    return null;
  }
  try {
    const read = readFileSync(file, 'utf8').trim();
    if (read === '') faults.push('  OIDC_CLIENT_SECRET_FILE names an empty file: write the secret into it');
    return read;
  } catch (error) {
    faults.push(`  OIDC_CLIENT_SECRET_FILE cannot be read (${(error as NodeJS.ErrnoException).code ?? 'error'})`);
    return null;
  }
}

function mappingOf(pair: string): RoleMapping | null {
  const [, value, enterprise, role] = ROLE.exec(pair) ?? [];
  if (value === undefined || enterprise === undefined) return null;
  return { value, enterprise, role: role as RoleMapping['role'] };
}
