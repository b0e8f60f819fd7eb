import { createWsServer } from '../../../../../media/io/socket-server/ws-server.ts';
import { runSocketServerConformance } from './conformance.ts';

runSocketServerConformance('ws', createWsServer);
