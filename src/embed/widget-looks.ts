/**
 * How the widget looks on the websites of a key: set by its owner, read by every visitor's browser. Used by the
 * settings API and the widget's public routes.
 */
import type { WidgetAppearance } from '../../media/contract/widget-appearance.ts';
import { BY_OPERATOR, type ChangedBy } from '../audit/audit-entry.ts';
import { recordAudit } from '../audit/record-audit.ts';
import { OperatorError } from '../errors/operator-error.ts';
import type { Database, Queryable } from '../store/database.ts';
import { widgetColors } from './widget-colors.ts';
import { readWidgetKey } from './widget-keys.ts';
import { type WidgetLanguage, widgetTexts } from './widget-texts.ts';

export const WIDGET_POSITIONS = ['bottom-right', 'bottom-left', 'top-right', 'top-left'] as const;
/** What opens while a call runs, where the page leaves it to its owner (`data-panel="auto"`). */
export const WIDGET_PANELS = ['none', 'overlay', 'docked'] as const;

export interface WidgetLook {
  /** The panel's heading; null: what the page says. */
  name: string | null;
  /** `#rrggbb`; null: the widget's own. */
  color: string | null;
  language: WidgetLanguage;
  position: (typeof WIDGET_POSITIONS)[number];
  panel: (typeof WIDGET_PANELS)[number];
  /** Visitors may type, too. */
  typing: boolean;
  /** What was said can be read afterwards. */
  transcript: boolean;
  /** What visitors read when it does not work and they cannot mend it; null: the widget's own words. */
  errorText: string | null;
  /** `data:image/png;base64,…`, shown beside the name. */
  picture: string | null;
}

export const PLAIN_LOOK: WidgetLook = {
  name: null,
  color: null,
  language: 'en',
  position: 'bottom-right',
  panel: 'docked',
  typing: false,
  transcript: false,
  errorText: null,
  picture: null,
};

export const MOST_PICTURE_BYTES = 40_000;
const PICTURE = /^data:(image\/(?:png|jpeg|webp));base64,([A-Za-z0-9+/]+={0,2})$/;
const BEGINNINGS: Readonly<Record<string, readonly string[]>> = {
  'image/png': ['89504e47'],
  'image/jpeg': ['ffd8ff'],
  'image/webp': ['52494646'],
};

interface Row {
  look: Omit<WidgetLook, 'picture'>;
  picture: Buffer | null;
  picture_type: string | null;
}

export async function readWidgetLook(database: Queryable, publicKey: string): Promise<WidgetLook> {
  const [row] = await database.query<Row>(
    'SELECT look, picture, picture_type FROM widget_looks WHERE public_key = $1',
    [publicKey],
  );
  if (row === undefined) return PLAIN_LOOK;
  const picture = row.picture === null ? null : `data:${row.picture_type};base64,${row.picture.toString('base64')}`;
  return { ...PLAIN_LOOK, ...row.look, picture };
}

/** As a visitor's browser gets it: what follows from the rest is made here, so that the widget stays small. */
export function shownLook({ color, ...look }: WidgetLook): WidgetAppearance {
  return { ...look, colors: color === null ? null : widgetColors(color), texts: widgetTexts(look.language) };
}

/** Replaces the whole. Throws an `OperatorError` for a key that the workspace lacks, and for a picture that is none. */
export async function setWidgetLook(
  database: Database,
  args: {
    slug: string;
    publicKey: string;
    look: WidgetLook;
    by?: ChangedBy;
    expect?: ((current: WidgetLook) => void) | undefined;
  },
): Promise<WidgetLook> {
  const { slug, publicKey, by = BY_OPERATOR } = args;
  const { picture, ...look } = args.look;
  const [bytes, type] = pictureOf(picture);
  return database.transaction(async (tx) => {
    await readWidgetKey(tx, { slug, publicKey });
    const [key] = await tx.query<{ workspaceId: string }>(
      `SELECT workspace_id AS "workspaceId" FROM widget_keys WHERE public_key = $1 FOR UPDATE`,
      [publicKey],
    );
    const before = await readWidgetLook(tx, publicKey);
    args.expect?.(before);
    await tx.query(
      `INSERT INTO widget_looks (public_key, look, picture, picture_type) VALUES ($1, $2, $3, $4)
       ON CONFLICT (public_key) DO UPDATE
         SET look = $2, picture = $3, picture_type = $4, updated_at = clock_timestamp()`,
      [publicKey, JSON.stringify(look), bytes, type],
    );
    await recordAudit(tx, {
      workspaceId: key!.workspaceId,
      by,
      action: 'widget_key.look_changed',
      target: `widget_key:${publicKey}`,
      before: { ...before, picture: before.picture !== null },
      after: { ...look, picture: picture !== null },
    });
    return readWidgetLook(tx, publicKey);
  });
}

function pictureOf(picture: string | null): [bytes: Buffer | null, type: string | null] {
  if (picture === null) return [null, null];
  const [, type = '', text = ''] = PICTURE.exec(picture) ?? [];
  const bytes = Buffer.from(text, 'base64');
  const head = bytes.subarray(0, 4).toString('hex');
  if (bytes.length === 0 || BEGINNINGS[type]?.some((one) => head.startsWith(one)) !== true) {
    throw new OperatorError('invalid', 'The picture must be a PNG, JPEG or WebP: data:image/png;base64,…');
  }
  if (bytes.length > MOST_PICTURE_BYTES) {
    throw new OperatorError('invalid', `The picture must have at most ${MOST_PICTURE_BYTES} bytes: 128 × 128 will do.`);
  }
  return [bytes, type];
}
