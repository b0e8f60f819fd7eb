{{- define "parley.name" -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{- define "parley.selector" -}}
app.kubernetes.io/name: parley
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "parley.labels" -}}
{{ include "parley.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "parley.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}

{{- /* Nodes that there are at least, and at most. */ -}}
{{- define "parley.least" -}}
{{- add (int .Values.replicas) (int .Values.spareReplicas) -}}
{{- end -}}
{{- define "parley.most" -}}
{{- if .Values.autoscaling.enabled -}}{{ max (int .Values.autoscaling.maxReplicas) (int (include "parley.least" .)) }}{{- else -}}{{ include "parley.least" . }}{{- end -}}
{{- end -}}

{{- define "parley.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}

{{- define "parley.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
fsGroupChangePolicy: OnRootMismatch
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{- /* One sentence for each value that is wanted. */ -}}
{{- define "parley.check" -}}
{{- $faults := list -}}
{{- if not .Values.image.repository -}}{{- $faults = append $faults "image.repository is missing: where the image lies that the Dockerfile makes" -}}{{- end -}}
{{- if not (hasPrefix "https://" .Values.publicUrl) -}}{{- $faults = append $faults "publicUrl must be the https address that carriers and browsers dial, like https://voice.example.com" -}}{{- end -}}
{{- if not .Values.trustedProxies -}}{{- $faults = append $faults "trustedProxies is missing: the ranges from which your ingress connects, like [10.0.0.0/8]; else all clients count as one ([none] where there is none)" -}}{{- end -}}
{{- if not .Values.database.secretName -}}{{- $faults = append $faults "database.secretName is missing: a Secret with the PostgreSQL address below the key DATABASE_URL; pods have no database of their own" -}}{{- end -}}
{{- if not .Values.masterKey.secretName -}}{{- $faults = append $faults "masterKey.secretName is missing: all nodes need the same key; kubectl create secret generic parley-master-key --from-literal=master-key=$(openssl rand -hex 32), and keep it apart from the database's backup" -}}{{- end -}}
{{- if not .Values.recordings.bucket -}}{{- $faults = append $faults "recordings.bucket is missing: every node has to reach the recordings, so they lie in a bucket" -}}{{- end -}}
{{- if not .Values.recordings.secretName -}}{{- $faults = append $faults "recordings.secretName is missing: a Secret with access-key-id and secret-access-key of the bucket" -}}{{- end -}}
{{- if lt (int .Values.replicas) 1 -}}{{- $faults = append $faults "replicas must be 1 or more" -}}{{- end -}}
{{- if $faults -}}{{- fail (printf "\n  %s" (join "\n  " $faults)) -}}{{- end -}}
{{- end -}}
