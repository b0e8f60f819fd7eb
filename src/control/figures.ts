/**
 * The metrics of all of the service as one text: control's own, the database's, and what media processes reported last.
 * Served by `metrics-server.ts`.
 */
import { counter, gauge, type MetricFamily } from '../../media/contract/metrics.ts';
import { databaseFamilies } from '../metrics/database-metrics.ts';
import { metricsText } from '../metrics/exposition.ts';
import type { MediaReports } from '../metrics/media-reports.ts';
import { recordingFamilies } from '../recordings/recordings.ts';
import type { CallWork } from './call-work.ts';
import type { Ground } from './ground.ts';
import type { MediaLink } from './media-link.ts';
import type { MediaPlaces } from './media-places.ts';
import type { Sound } from './sound.ts';

interface Measured {
  sound: Sound;
  places: MediaPlaces;
  work: CallWork;
  link: MediaLink;
  reports: MediaReports;
}

export async function figuresText({ metrics, shared, traces }: Ground, parts: Measured): Promise<string> {
  const { uploader, purge } = parts.sound;
  const own = [
    ...(await metrics.families()),
    ...(await databaseFamilies(shared)),
    ...linkFamilies(parts),
    ...(traces?.families() ?? []),
    ...(await recordingFamilies(shared.database, uploader.figures, purge.figures)),
  ];
  return metricsText(new Map([['control', own], ...parts.reports.current()]));
}

function linkFamilies({ places, work, link }: Measured): MetricFamily[] {
  const { analysis, tools } = work;
  const connected = places.pool.members().filter((member) => member.connected).length;
  const { server, messages } = link;
  return [
    gauge('parley_media_processes_connected', 'Media processes that are connected to this control', connected),
    gauge('parley_link_unhandled_messages', 'Messages of media that wait for the database', server.unhandledCount()),
    gauge(
      'parley_analysis_models_left_alone',
      'Chat endpoints that failed too often just now',
      analysis.openBreakers(),
    ),
    gauge('parley_tool_calls_running', 'Requests of custom tools under way', tools.running()),
    gauge('parley_tool_breakers_open', 'Tools that are not asked because they failed too often', tools.openBreakers()),
    counter('parley_link_stale_messages_total', 'Messages of media refused for their old epoch', messages.staleCount()),
  ];
}
