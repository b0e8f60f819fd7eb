/**
 * The values that a client gives a call along, or a lead for its calls: for placeholders, and given back as they came.
 * A zod schema, so that the published form and the check are one. Used by the outbound-call route and by leads.
 */
import { z } from 'zod';
import { placeholderText } from '../../media/contract/placeholders.ts';
import { isStorable } from '../store/storable.ts';

const METADATA_LIMITS = { keys: 50, valueCharacters: 2_000, totalBytes: 8 * 1024 };
const METADATA_KEY = /^[A-Za-z_][A-Za-z0-9_.-]{0,63}$/;

export const metadataSchema = z
  .record(z.string().regex(METADATA_KEY), z.json().meta({ id: 'JsonValue' }))
  .refine((value) => Object.keys(value).length <= METADATA_LIMITS.keys)
  .refine((value) =>
    Object.values(value).every((inner) => [...placeholderText(inner)].length <= METADATA_LIMITS.valueCharacters),
  )
  .refine((value) => Buffer.byteLength(JSON.stringify(value)) <= METADATA_LIMITS.totalBytes)
  .refine(isStorable)
  .meta({
    maxProperties: METADATA_LIMITS.keys,
    description: 'Values for placeholders; 2,000 characters each, 8 KB in all',
  });
