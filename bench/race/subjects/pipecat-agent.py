"""Pipecat behind Plivo's streams, as its examples put a pipeline together.

The recogniser, the model and the voice are its own services, the transport its FastAPI websocket with its Plivo
serializer, the detector its Silero analyzer; a turn ends after its default time of silence. All conversations in one
process. Copied into the folder where its packages are installed and started there by `other.ts`; prints its address.
"""

import json
import os
import sys
import threading

import uvicorn
from fastapi import FastAPI, WebSocket
from loguru import logger
from pipecat.audio.vad.silero import SileroVADAnalyzer
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import LLMContextAggregatorPair, LLMUserAggregatorParams
from pipecat.serializers.plivo import PlivoFrameSerializer
from pipecat.services.deepgram.stt import DeepgramSTTService
from pipecat.services.elevenlabs.tts import ElevenLabsTTSService
from pipecat.services.openai.llm import OpenAILLMService
from pipecat.transports.websocket.fastapi import FastAPIWebsocketParams, FastAPIWebsocketTransport
from pipecat.turns.user_start import TranscriptionUserTurnStartStrategy, VADUserTurnStartStrategy
from pipecat.turns.user_stop import SpeechTimeoutUserTurnStopStrategy
from pipecat.turns.user_turn_strategies import UserTurnStrategies
from pipecat.workers.runner import WorkerRunner

PROVIDERS = os.environ["RACE_PROVIDERS"]
SOCKETS = PROVIDERS.replace("http", "ws", 1)
RATE_HZ = 8000

logger.remove()
logger.add(sys.stderr, level="ERROR")
app = FastAPI()


@app.websocket("/{call_id}")
async def hold(websocket: WebSocket, call_id: str):
    await websocket.accept()
    start = json.loads(await websocket.receive_text())["start"]
    serializer = PlivoFrameSerializer(
        stream_id=start["streamId"], params=PlivoFrameSerializer.InputParams(auto_hang_up=False)
    )
    transport = FastAPIWebsocketTransport(
        websocket=websocket,
        params=FastAPIWebsocketParams(audio_in_enabled=True, audio_out_enabled=True, serializer=serializer),
    )
    context = LLMContext(
        [{"role": "system", "content": "You answer questions about a restaurant, in a sentence."}]
    )
    turns = UserTurnStrategies(
        start=[VADUserTurnStartStrategy(), TranscriptionUserTurnStartStrategy()],
        stop=[SpeechTimeoutUserTurnStopStrategy()],
    )
    aggregators = LLMContextAggregatorPair(
        context,
        user_params=LLMUserAggregatorParams(user_turn_strategies=turns, vad_analyzer=SileroVADAnalyzer()),
    )
    pipeline = Pipeline(
        [
            transport.input(),
            DeepgramSTTService(api_key="race", base_url=SOCKETS),
            aggregators.user(),
            OpenAILLMService(api_key="race", base_url=f"{PROVIDERS}/v1"),
            ElevenLabsTTSService(
                api_key="race", url=SOCKETS, settings=ElevenLabsTTSService.Settings(voice="race")
            ),
            transport.output(),
            aggregators.assistant(),
        ]
    )
    worker = PipelineWorker(
        pipeline, params=PipelineParams(audio_in_sample_rate=RATE_HZ, audio_out_sample_rate=RATE_HZ)
    )

    @transport.event_handler("on_client_disconnected")
    async def on_client_disconnected(_transport, _client):
        await worker.cancel()

    runner = WorkerRunner(handle_sigint=False)
    await runner.add_workers(worker)
    await runner.run()


def leave_with_parent():
    """Who started it is gone when its end of the pipe is closed."""
    sys.stdin.read()
    os._exit(0)


class Server(uvicorn.Server):
    """Says where it listens."""

    async def startup(self, sockets=None):
        await super().startup(sockets=sockets)
        port = self.servers[0].sockets[0].getsockname()[1]
        print(json.dumps({"url": f"ws://127.0.0.1:{port}/"}, separators=(",", ":")), flush=True)


threading.Thread(target=leave_with_parent, daemon=True).start()
Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="error")).run()
