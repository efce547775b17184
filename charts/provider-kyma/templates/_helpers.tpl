{{- define "provider-kyma.serviceAccount" -}}
{{ .Values.serviceAccount.name | default .Release.Name }}
{{- end }}

{{- define "provider-kyma.selector" -}}
app.kubernetes.io/name: provider-kyma
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "provider-kyma.labels" -}}
{{ include "provider-kyma.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "provider-kyma.image" -}}
{{ .Values.image.repository }}{{ with .Values.image.digest }}@{{ . }}{{ else }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ end }}
{{- end }}

{{- define "provider-kyma.subjects" -}}
- kind: ServiceAccount
  namespace: {{ .Release.Namespace }}
  name: {{ include "provider-kyma.serviceAccount" . }}
{{- end }}
